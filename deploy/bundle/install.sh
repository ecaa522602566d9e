#!/bin/sh
# Verifies this bundle, and puts its images where a cluster finds them:
#   sh install.sh --registry HOST[:PORT][/PATH] [--key FILE] [--tool skopeo|podman] [--plain-http]
#   sh install.sh --containerd [--key FILE]        into this machine's containerd, with ctr
# Then prints the Helm line. Nothing is fetched from anywhere.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
registry= tool= key= plain= containerd=
usage() { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --registry) [ $# -ge 2 ] || usage; registry=${2%/}; shift 2 ;;
    --tool) [ $# -ge 2 ] || usage; tool=$2; shift 2 ;;
    --key) [ $# -ge 2 ] || usage
      case $2 in /*) key=$2 ;; *) key=$(pwd)/$2 ;; esac
      shift 2 ;;
    --plain-http) plain=1; shift ;;
    --containerd) containerd=1; shift ;;
    *) usage ;;
  esac
done
[ -n "$registry$containerd" ] || usage
refuse() { echo "$1" >&2; exit 2; }
[ -z "$registry" ] || [ -z "$containerd" ] || refuse "--registry and --containerd: one of them at a time"
case $tool in '' | skopeo | podman) ;; *) refuse "--tool: skopeo or podman" ;; esac
case $registry in
  *://*) refuse "--registry: $registry begins with a scheme: a host, a port and a path are all it takes, and --plain-http for http" ;;
  *[!A-Za-z0-9.:/_-]* | /*) refuse "--registry: $registry is no registry" ;;
  */*[A-Z]*) refuse "--registry: $registry has capital letters in its path, which registries do not take" ;;
esac

if [ -n "$key" ]; then sh "$here/verify.sh" --key "$key"; else sh "$here/verify.sh"; fi

version=$(cat "$here/VERSION")
flags=
if [ -n "$containerd" ]; then
  tar -C "$here/images" -cf - oci-layout index.json blobs |
    ctr -n k8s.io images import --all-platforms -
else
  if [ -z "$tool" ]; then
    for found in skopeo podman; do
      command -v "$found" >/dev/null && { tool=$found; break; }
    done
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  ln -s "$here/images" "$work/images"
  [ -n "$tool" ] || { echo "Neither skopeo nor podman is here: one of them takes the images to a registry." >&2; exit 1; }
  while read -r value name digest; do
    from="oci:$here/images:docker.io/$name:$version"
    to="docker://$registry/$name:$version"
    case $tool in
      skopeo)
        skopeo copy --quiet --all --preserve-digests ${plain:+--dest-tls-verify=false} "$from" "$to"
        arrived=sha256:$(skopeo inspect --raw ${plain:+--tls-verify=false} "$to" | sha256sum | cut -d' ' -f1)
        [ "$arrived" = "$digest" ] || { echo "$name: arrived as $arrived, and not as $digest" >&2; exit 1; }
        ;;
      podman)
        # Podman takes the image of this machine's platform alone, under a digest of its own, and makes it a name of the path,
        # which must be a name of an image: a short link, then.
        image=$(cd "$work" && podman pull --quiet "oci:images:docker.io/$name:$version")
        podman push --quiet --digestfile "$work/digest" ${plain:+--tls-verify=false} "$image" "$to"
        digest=$(cat "$work/digest")
        ;;
    esac
    echo "$registry/$name@$digest"
    [ "$value" = - ] || flags="$flags --set $value.image.digest=$digest"
  done < "$here/images/IMAGES"
  if [ "$tool" = skopeo ]; then
    while read -r name tag; do
      skopeo copy --quiet --preserve-digests ${plain:+--dest-tls-verify=false} \
        "oci:$here/images:docker.io/$name:$tag" "docker://$registry/$name:$tag"
    done < "$here/images/SIGNATURES"
    echo "The images' signatures (cosign's form) are beside them."
  fi
  flags=" --set global.imageRegistry=$registry$flags"
fi
if [ -f "$here/chart/sluice-$version.tgz" ]; then
  # As a shell takes it, whatever the folder is called.
  place=$here
  case $here in *[!A-Za-z0-9/._-]*) place="'$(printf %s "$here" | sed "s/'/'\\\\''/g")'" ;; esac
  echo
  echo "helm upgrade --install sluice $place/chart/sluice-$version.tgz --namespace sluice --create-namespace --values $place/values/airgap.yaml$flags"
fi
