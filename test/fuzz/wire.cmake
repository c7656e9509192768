fuzz_target(frame weir_wire)
fuzz_target(startup weir_wire)
fuzz_target(frontend weir_wire)
fuzz_target(backend weir_wire)
