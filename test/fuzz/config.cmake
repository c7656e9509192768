fuzz_target(config weir_config)
fuzz_target(userlist weir_config)
fuzz_target(units weir_config)
fuzz_target(runtime_limits weir_config)
