// The key that decrypts AES... secrets of pool_passwd and the configuration: Pgpool-II's key file, which is the one of
// -k, else of $PGPOOLKEYFILE, else ~/.pgpoolkey. Its first line is the key.
#pragma once

#include <string>
#include <string_view>

namespace weir::parent {

// FILE holds users and their secrets, as pool_passwd does, and not a key. False if it cannot be read.
bool is_list_of_users(const std::string& file);

// FILE: of -k, empty if it was not given. Empty: there is no key, which is an error once a secret needs one.
std::string read_password_key(const std::string& file);

}  // namespace weir::parent
