fuzz_target(command weir_admin)
