#include "lab/kubernetes/pki.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "lab/kubernetes/openssl.h"

namespace lab {
namespace {

using Key = OpenSslPtr<EVP_PKEY, EVP_PKEY_free>;
using X509Ptr = OpenSslPtr<X509, X509_free>;
using BioPtr = OpenSslPtr<BIO, BIO_free>;
using ExtensionPtr = OpenSslPtr<X509_EXTENSION, X509_EXTENSION_free>;

constexpr long kHour = 60L * 60;
constexpr long kDay = 24 * kHour;

void require(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "pki: %s\n", what);
  ERR_print_errors_fp(stderr);
  std::abort();
}

Key new_key() {
  Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "make a key");
  return key;
}

template <typename Write>
std::string pem(Write write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  require(write(bio.get()) == 1, "write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(EVP_PKEY* key) {
  return pem([&](BIO* bio) { return PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string pem_of(X509* certificate) {
  return pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

void add_to_name(X509_NAME* name, const char* field, std::string_view value) {
  require(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                     static_cast<int>(value.size()), -1, 0) == 1,
          "fill a name");
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  require(extension && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

// A certificate that still lacks names, extensions and signature. Valid from an hour ago: clocks differ.
X509Ptr blank(EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint64_t serial = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "draw a serial number");
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1U);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 30 * kDay);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

struct Authority::Parts {
  Key key;
  X509Ptr certificate;

  Certificate sign(EVP_PKEY* subject_key, X509Ptr subject) const {
    X509_set_issuer_name(subject.get(), X509_get_subject_name(certificate.get()));
    require(X509_sign(subject.get(), key.get(), EVP_sha256()) > 0, "sign");
    return {.pem = pem_of(subject.get()), .key = pem_of(subject_key)};
  }
};

KeyPair make_keys() {
  const Key key = new_key();
  return {.key = pem_of(key.get()), .public_key = pem([&](BIO* bio) { return PEM_write_bio_PUBKEY(bio, key.get()); })};
}

std::string base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

Authority::Authority(std::string_view name) : parts_(std::make_unique<Parts>()) {
  parts_->key = new_key();
  X509Ptr own = blank(parts_->key.get());
  add_to_name(X509_get_subject_name(own.get()), "CN", name);
  X509_set_issuer_name(own.get(), X509_get_subject_name(own.get()));
  add_extension(own.get(), own.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own.get(), own.get(), NID_key_usage, "critical,keyCertSign,digitalSignature");
  add_extension(own.get(), own.get(), NID_subject_key_identifier, "hash");
  require(X509_sign(own.get(), parts_->key.get(), EVP_sha256()) > 0, "sign");
  certificate_ = pem_of(own.get());
  parts_->certificate = std::move(own);
}

Authority::~Authority() = default;

Certificate Authority::server(std::string_view name, const std::vector<std::string>& dns_names,
                              const std::vector<net::Address>& addresses) const {
  const Key key = new_key();
  X509Ptr leaf = blank(key.get());
  add_to_name(X509_get_subject_name(leaf.get()), "CN", name);
  std::string names;
  for (const std::string& dns : dns_names) names += fmt::format("{}DNS:{}", names.empty() ? "" : ",", dns);
  for (const net::Address& address : addresses)
    names += fmt::format("{}IP:{}", names.empty() ? "" : ",", address.text());
  add_extension(leaf.get(), parts_->certificate.get(), NID_subject_alt_name, names);
  add_extension(leaf.get(), parts_->certificate.get(), NID_ext_key_usage, "serverAuth");
  add_extension(leaf.get(), parts_->certificate.get(), NID_authority_key_identifier, "keyid");
  return parts_->sign(key.get(), std::move(leaf));
}

Certificate Authority::client(std::string_view user, const std::vector<std::string>& groups) const {
  const Key key = new_key();
  X509Ptr leaf = blank(key.get());
  for (const std::string& group : groups) add_to_name(X509_get_subject_name(leaf.get()), "O", group);
  add_to_name(X509_get_subject_name(leaf.get()), "CN", user);
  add_extension(leaf.get(), parts_->certificate.get(), NID_ext_key_usage, "clientAuth");
  add_extension(leaf.get(), parts_->certificate.get(), NID_authority_key_identifier, "keyid");
  return parts_->sign(key.get(), std::move(leaf));
}

}  // namespace lab
