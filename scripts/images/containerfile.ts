import type { Buildable } from '../build.ts';
import { appFolder, imageKinds, nodePath, runConfig } from './image-config.ts';

/** A Containerfile for those who have a base image of their own; the same settings as the images of `npm run images`. */
export function containerfile(service: Buildable): string {
  const kind = imageKinds[service];
  const { User, Env, Entrypoint, WorkingDir } = runConfig(kind);
  const own = Env.filter((line) => !/^(PATH|SSL_CERT_FILE)=/.test(line));
  const lines = [
    `# ${kind.title} on a base image of your own. Made by npm run generate.`,
    '#',
    `#   npm run build -- ${service}`,
    `#   buildah build --build-arg BASE=registry.example/node:24 -f deploy/images/${service}.Containerfile .`,
    '#',
    `# BASE has Node 24 as ${nodePath}, and certificates of authorities.`,
    ...(kind.volume === undefined
      ? []
      : [`# Mount a volume at ${kind.volume} that ${User} may write.`]),
    'ARG BASE',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an argument of the build
    'FROM ${BASE}',
    `COPY --chown=0:0 dist/${service}/ ${appFolder}/`,
    `ENV ${own.join(' \\\n    ')}`,
    `WORKDIR ${WorkingDir}`,
    `USER ${User}`,
    `ENTRYPOINT ${JSON.stringify(Entrypoint)}`,
  ];
  return `${lines.join('\n')}\n`;
}
