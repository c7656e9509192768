fuzz_target(snapshot weir_child)
