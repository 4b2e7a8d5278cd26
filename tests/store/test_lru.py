"""The cache of recently used values."""

from concurrent.futures import ThreadPoolExecutor

from store.lru import LruCache


def test_it_evicts_the_least_recently_used_value() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache["a"] = 1
    cache["b"] = 2
    assert cache.get("a") == 1
    cache["c"] = 3
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_concurrent_threads_can_evict_values_safely() -> None:
    cache: LruCache[int, int] = LruCache(3)

    def use(start: int) -> None:
        for number in range(2_000):
            key = (start + number) % 7
            assert cache.get(key, key) == key
            cache[key] = key

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    assert len(cache) == 3
