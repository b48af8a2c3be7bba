//! Compiled kernels in the disk cache: entries that are damaged, or for other kernels, are compiled again.

use std::fs;
use std::path::Path;

use gridgen::backend::cuda::launch::cache::{self, CacheKey, code, entry, load, store};

fn options(capability: u32) -> Vec<String> {
    vec![format!("--gpu-architecture=sm_{capability}"), "--std=c++17".to_owned()]
}

#[test]
fn code_of_another_source_option_or_compiler_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let (sm_90, sm_80) = (options(90), options(80));
    let kept = CacheKey { text: "kernel", options: &sm_90, compiler: (13, 0) };
    store(cache, &kept, b"machine code");

    for other in [
        CacheKey { text: "kernels", ..kept },
        CacheKey { options: &sm_80, ..kept },
        CacheKey { compiler: (13, 1), ..kept },
    ] {
        assert_eq!(load(cache, &other), None);
        // It is not accepted even under the other's name.
        fs::copy(cache::path(cache, &kept), cache::path(cache, &other)).unwrap();
        assert_eq!(load(cache, &other), None);
    }
}

#[test]
fn stored_code_is_loaded_and_a_truncated_changed_or_empty_entry_is_recompiled() {
    let folder = tempfile::tempdir().unwrap();
    let cache = &folder.path().join("a/b");
    let key = CacheKey { text: "kernel", options: &options(90), compiler: (13, 0) };
    let whole = entry(b"machine code", &key);
    assert_eq!(load(cache, &key), None);
    store(cache, &key, b"machine code");
    assert_eq!(load(cache, &key).unwrap(), b"machine code");

    for length in 0..whole.len() {
        assert_eq!(code(&whole[..length], &key), None, "cut to {length}");
        let mut changed = whole.clone();
        changed[length] ^= 1;
        assert_eq!(code(&changed, &key), None, "changed at {length}");
    }
    assert_eq!(code(&entry(b"", &key), &key), None);
    fs::write(cache::path(cache, &key), b"").unwrap();
    assert_eq!(load(cache, &key), None);
    // The newly compiled kernel replaces it.
    store(cache, &key, b"machine code");
    assert_eq!(load(cache, &key).unwrap(), b"machine code");
}

#[test]
fn an_empty_or_relative_cache_folder_is_ignored() {
    let of = |cache: Option<&str>, home: Option<&str>| {
        cache::folder(cache.map(Into::into), home.map(Into::into))
    };
    let in_home = Some(Path::new("/home/u/.cache/gridgen").to_path_buf());

    assert_eq!(of(Some("/cache"), None).as_deref(), Some(Path::new("/cache/gridgen")));
    for cache in [None, Some(""), Some("."), Some("cache"), Some("./cache")] {
        assert_eq!(of(cache, Some("/home/u")), in_home, "{cache:?}");
        for home in [None, Some(""), Some("home")] {
            assert_eq!(of(cache, home), None, "{cache:?}, {home:?}");
        }
    }
}
