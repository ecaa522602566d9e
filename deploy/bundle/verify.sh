#!/bin/sh
# Checks a bundle: that the list of its files is signed by the key, and that every file is
# what the list says. `sh verify.sh [--key FILE]`, default: the key that came with the bundle,
# which proves no more than that nothing was broken on the way: give the one that you know.
# Needs openssl and sha256sum. Ends with 0 when all is well; else names each fault and ends with 1.
#
# By hand, without this file:
#   openssl dgst -sha256 -verify KEY -signature SHA256SUMS.sig SHA256SUMS && sha256sum -c SHA256SUMS
set -eu
cd "$(dirname "$0")"
key=sluice.pub
while [ $# -gt 0 ]; do
  case $1 in
    --key) [ $# -ge 2 ] || { echo "--key needs a file" >&2; exit 2; }
      case $2 in /*) key=$2 ;; *) key=${OLDPWD:-.}/$2 ;; esac
      shift 2 ;;
    *) echo "usage: sh verify.sh [--key FILE]" >&2; exit 2 ;;
  esac
done
for tool in openssl sha256sum; do
  command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 2; }
done
[ -r "$key" ] || { echo "$key: is missing" >&2; exit 1; }
for file in SHA256SUMS SHA256SUMS.sig; do
  [ -f "$file" ] || { echo "$file: is missing" >&2; exit 1; }
done
if ! openssl dgst -sha256 -verify "$key" -signature SHA256SUMS.sig SHA256SUMS >/dev/null 2>&1; then
  echo "SHA256SUMS: is not what was signed, or not by the key $key" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cut -c67- SHA256SUMS | LC_ALL=C sort > "$work/signed"
# Files and whatever else is no folder: a link is not what was signed, wherever it leads.
find . ! -type d | sed 's|^\./||' | grep -v -e '^SHA256SUMS$' -e '^SHA256SUMS\.sig$' -e '^SHA256SUMS\.minisig$' |
  LC_ALL=C sort > "$work/there"
find . ! -type d ! -type f | sed 's|^\./||' > "$work/odd"
: > "$work/faults"
LC_ALL=C comm -23 "$work/signed" "$work/there" | sed 's/$/: was signed, and is missing/' >> "$work/faults"
LC_ALL=C comm -13 "$work/signed" "$work/there" | sed 's/$/: is not signed/' >> "$work/faults"
sed 's/$/: is no file/' "$work/odd" >> "$work/faults"
# Whatever is not said to be well is not, also what cannot be read.
LC_ALL=C sha256sum -c SHA256SUMS 2>/dev/null | sed -n 's/: OK$//p' | LC_ALL=C sort > "$work/well"
LC_ALL=C comm -23 "$work/signed" "$work/well" | LC_ALL=C comm -12 - "$work/there" |
  while IFS= read -r file; do
    if [ -r "$file" ]; then echo "$file: is not what was signed"; else echo "$file: cannot be read"; fi
  done >> "$work/faults"
if [ -s "$work/faults" ]; then
  LC_ALL=C sort -u "$work/faults" >&2
  exit 1
fi
echo "Verified: $(wc -l < "$work/signed" | tr -d ' ') files, signed by $key."
