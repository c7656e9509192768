fuzz_target(classify weir_parser)
fuzz_target(fingerprint weir_parser)
fuzz_target(hints weir_parser)
fuzz_target(long_text weir_parser)
