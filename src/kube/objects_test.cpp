#include "kube/objects.h"

#include <map>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using Model = std::map<Key, int>;

Objects<int>::Entry entry(const Key& key, int value) {
  return std::make_shared<const Object<int>>(Object<int>{.key = key, .uid = "", .version = 0, .value = value});
}

Key key(unsigned number) {
  return {"shop", fmt::format("web-{}", number)};
}

Model contents(const Objects<int>& objects) {
  Model out;
  const Key* last = nullptr;
  for (const auto& one : objects) {
    EXPECT_TRUE(last == nullptr || *last < one->key) << "out of order: " << one->key.text();
    last = &one->key;
    out[one->key] = one->value;
  }
  EXPECT_EQ(out.size(), objects.size());
  return out;
}

Model difference(const Model& before, const Model& after) {
  Model out;
  for (const auto& [key, value] : before) {
    if (const auto found = after.find(key); found == after.end()) out[key] = -1;
  }
  for (const auto& [key, value] : after) {
    if (const auto found = before.find(key); found == before.end() || found->second != value) out[key] = value;
  }
  return out;
}

Model told(const Objects<int>& before, const Objects<int>& after) {
  Model out;
  compare(before, after, [&](const Object<int>* old, const Object<int>* fresh) {
    const auto* const any = fresh != nullptr ? fresh : old;
    EXPECT_TRUE(out.try_emplace(any->key, fresh != nullptr ? fresh->value : -1).second) << any->key.text() << " twice";
  });
  return out;
}

// Against a map, with the views of several instants held at once.
TEST(Objects, are_a_map_whose_past_does_not_change) {
  std::mt19937_64 random(5);
  Objects<int> objects;
  Model model;
  std::vector<std::pair<Objects<int>, Model>> past;
  for (int step = 0; step < 12'000; ++step) {
    const Key at = key(static_cast<unsigned>(random() % 3'000));
    if (random() % 3 == 0) {
      objects.erase(at);
      model.erase(at);
    } else {
      objects.insert(entry(at, step));
      model[at] = step;
    }
    if (step % 1'000 == 0) past.emplace_back(objects.share(), model);
    const auto found = objects.find(at);
    ASSERT_EQ(found != nullptr, model.contains(at));
  }
  EXPECT_EQ(contents(objects), model);
  for (const auto& [then, truth] : past) {
    ASSERT_EQ(contents(then), truth);
    ASSERT_EQ(told(then, objects), difference(truth, model));
    ASSERT_EQ(told(objects, then), difference(model, truth));
  }
}

TEST(Objects, a_copy_is_one_of_its_own) {
  Objects<int> objects;
  for (unsigned i = 0; i < 300; ++i) objects.insert(entry(key(i), 1));
  const Model before = contents(objects);
  Objects<int> copy = objects;
  copy.insert(entry(key(7), 2));
  objects.erase(key(8));
  EXPECT_EQ(contents(copy).at(key(7)), 2);
  EXPECT_TRUE(contents(copy).contains(key(8)));
  EXPECT_EQ(contents(objects).at(key(7)), 1);
  EXPECT_EQ(before.size(), 300U);
}

// What makes an event cheap: one change leaves all but one leaf as it was, and only that leaf is compared.
TEST(Objects, one_change_copies_one_leaf) {
  Objects<int> objects;
  for (unsigned i = 0; i < 10'000; ++i) objects.insert(entry(key(i), 1));
  const Objects<int> before = objects.share();
  objects.insert(entry(key(5'000), 2));
  std::size_t held_twice = 0;
  for (const auto& one : before) held_twice += one.use_count() > 1 ? 1U : 0U;
  EXPECT_LE(held_twice, 32U);
  EXPECT_EQ(told(before, objects), (Model{{key(5'000), 2}}));
}

TEST(Objects, none_is_empty) {
  const Objects<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none.find(key(1)), nullptr);
  EXPECT_TRUE(told(none, none).empty());
}

}  // namespace
}  // namespace kube
