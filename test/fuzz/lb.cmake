fuzz_target(catalog_facts weir_shmem)
fuzz_target(catalog_rows weir_lb)
