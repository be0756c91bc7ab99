#include "http/self_signed.h"

#include <functional>
#include <memory>

#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "http/pem.h"
#include "http/tls.h"
#include "net/address.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

using Extension = std::unique_ptr<X509_EXTENSION, FreeBy<X509_EXTENSION, X509_EXTENSION_free>>;
using Number = std::unique_ptr<BIGNUM, FreeBy<BIGNUM, BN_free>>;

constexpr int kSerialBits = 127;   // Positive, and unguessable as RFC 5280 and the CA rules like it.
constexpr long kClockSkew = 3600;  // Clients whose clock is a little late must not refuse a fresh certificate.

// OpenSSL's calls answer 1 for "done".
base::Status done(int answer, std::string_view what) {
  if (answer == 1) return {};
  return fail(Fault::bug, tls_error(what));
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ',';
    out += net::Address::parse(name) ? "IP:" : "DNS:";
    out += name;
  }
  return out;
}

base::Status add_extension(X509* certificate, int nid, const std::string& value) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  if (!extension) return fail(Fault::invalid, tls_error("certificate extension " + value));
  return done(X509_add_ext(certificate, extension.get(), -1), "certificate extension");
}

base::Status name_and_number(X509* certificate, const std::string& name) {
  const Number serial(BN_new());
  TRY(done(BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY), "serial number"));
  if (BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) == nullptr) {
    return fail(Fault::bug, tls_error("serial number"));
  }
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
  TRY(done(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0), "subject"));
  return done(X509_set_issuer_name(certificate, subject), "issuer");
}

base::Result<std::string> pem(const std::function<int(BIO*)>& write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  TRY(done(write(bio.get()), "PEM"));
  char* data = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

base::Result<KeyPair> make_self_signed(const std::vector<std::string>& names, std::chrono::seconds lifetime) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return fail(Fault::bug, tls_error("new key"));
  TRY(done(X509_set_version(certificate.get(), X509_VERSION_3), "version"));
  TRY(name_and_number(certificate.get(), names.empty() ? "self-signed" : names.front()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kClockSkew);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), lifetime.count());
  TRY(done(X509_set_pubkey(certificate.get(), key.get()), "public key"));
  TRY(add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY(add_extension(certificate.get(), NID_ext_key_usage, "serverAuth"));
  if (!names.empty()) TRY(add_extension(certificate.get(), NID_subject_alt_name, alternative_names(names)));
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return fail(Fault::bug, tls_error("signature"));
  return KeyPair{
      .certificate = TRY(pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); })),
      .key = TRY(pem(
          [&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })),
  };
}

}  // namespace http
