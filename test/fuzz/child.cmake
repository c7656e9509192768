fuzz_target(snapshot weir_child)
fuzz_target(parcel weir_child)
