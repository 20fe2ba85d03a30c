# ./dev docs: makes a site of the documents in build/docs/site, with a reference from the comments
# of the headers. A broken link, or a comment that the reference cannot process, makes it fail.
# shellcheck shell=bash

verb_docs() {
  need docs
  stage "Fetching the site's generator" fetch_generator
  stage "The site of the documents" build_site
  say "build/docs/site/index.html"
}

build_site() {
  fetch_generator
  rm -rf build/docs
  make_reference
  # All of our files, because pages link to sources too.
  mkdir -p build/docs/pages
  git ls-files -z -c -o --exclude-standard | tar -c --null -T - | tar -x -C build/docs/pages
  cat README.md tools/docs/contents.md > build/docs/pages/index.md
  rm build/docs/pages/README.md
  cp tools/docs/{conf.py,interface.md} build/docs/pages
  "$generator/bin/sphinx-build" -q -W --keep-going -d build/docs/known build/docs/pages \
    build/docs/site
}

make_reference() {
  mkdir -p build/docs/reference/api
  doxygen tools/docs/Doxyfile
}

# In a folder that is named after its contents, so that other versions get another folder.
fetch_generator() {
  local wanted
  wanted=$(sha256sum tools/docs/requirements.txt | cut -c1-12)
  generator=${HOLDFAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast}/docs/$wanted
  if [[ -x $generator/bin/sphinx-build ]]; then
    return
  fi
  rm -rf "$generator"
  /usr/bin/python3 -m venv "$generator"
  "$generator/bin/pip" -q --disable-pip-version-check install --require-hashes --only-binary :all: \
    -r tools/docs/requirements.txt || {
    rm -rf "$generator"
    die "pip could not fetch what tools/docs/requirements.txt names"
  }
}
