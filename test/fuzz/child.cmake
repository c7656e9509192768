fuzz_target(parcel weir_child)
