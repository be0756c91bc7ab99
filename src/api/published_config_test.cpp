#include "api/published_config.h"

#include <gtest/gtest.h>

namespace api {
namespace {

using Trust = PublishedConfig::Trust;

IPRuleConfig sound() {
  IPRuleConfig config;
  config.meta = {.name = "iprc-10-96-1-50", .uid = "u", .resource_version = "412", .generation = 2};
  config.spec = {.service_ip = "10.96.1.50", .table = 100, .priority = 1000};
  config.meta.labels.set(kManagedByLabel, kManagedByValue);
  config.meta.annotations.set(kSpecHash, spec_hash(config.spec));
  config.meta.owners = {{.api_version = std::string(kApiVersion), .kind = "IPRule", .name = "blue", .uid = "r"}};
  return config;
}

TEST(PublishedConfig, what_the_controller_wrote_is_trusted) {
  EXPECT_EQ(published(sound()).trust, Trust::trusted);
  json::Reader reader;
  EXPECT_EQ(decode_published_config(*reader.parse(encode(sound())))->trust, Trust::trusted);
}

TEST(PublishedConfig, D50_every_lack_of_trust_has_its_name) {
  IPRuleConfig config = sound();
  config.spec.table = 7;
  EXPECT_EQ(published(config).trust, Trust::mismatch);
  config = sound();
  config.meta.annotations.erase(kSpecHash);
  EXPECT_EQ(published(config).trust, Trust::unhashed);
  config = sound();
  config.meta.owners[0].kind = "Service";
  EXPECT_EQ(published(config).trust, Trust::unowned);
  config = sound();
  config.meta.owners[0].api_version = "other/v1";
  EXPECT_EQ(published(config).trust, Trust::unowned);
  config.spec.table = 7;
  EXPECT_EQ(published(config).trust, Trust::mismatch) << "what was changed beside its owner counts too";
  config = sound();
  config.meta.labels.erase(kManagedByLabel);
  EXPECT_EQ(published(config).trust, Trust::unmanaged);
}

TEST(PublishedConfig, the_epoch_is_the_version_until_the_status_of_this_generation_says_otherwise) {
  IPRuleConfig config = sound();
  EXPECT_EQ(epoch(config), 412U);
  config.status = {.observed_generation = 2, .epoch = 400};
  EXPECT_EQ(epoch(config), 400U);
  config.meta.generation = 3;
  EXPECT_EQ(epoch(config), 412U);
  config.meta.resource_version = "not a number";
  EXPECT_EQ(epoch(config), 0U);
}

TEST(PublishedConfig, withdrawn_is_absent_or_terminating) {
  IPRuleConfig config = sound();
  EXPECT_TRUE(published(config).is_present());
  config.meta.deleted = meta::Time(std::chrono::seconds(1));
  EXPECT_FALSE(published(config).is_present());
  config = sound();
  config.spec.state = ConfigState::absent;
  config.meta.annotations.erase(kSpecHash);
  EXPECT_FALSE(published(config).is_present());
}

TEST(PublishedConfig, D6_absent_beside_the_hash_of_what_was_present_is_an_edit_and_no_withdrawal) {
  IPRuleConfig config = sound();
  config.spec.state = ConfigState::absent;
  EXPECT_EQ(published(config).trust, Trust::mismatch);
  EXPECT_TRUE(published(config).is_present());
  config.meta.deleted = meta::Time(std::chrono::seconds(1));
  EXPECT_FALSE(published(config).is_present()) << "a deletion is obeyed";
}

}  // namespace
}  // namespace api
