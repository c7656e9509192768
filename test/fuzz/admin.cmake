fuzz_target(command weir_admin)
fuzz_target(console weir_admin)
fuzz_target(census weir_admin)
