/**
 * `npm run images`: container images of all services for amd64 and arm64, as OCI layouts, with no container engine:
 * `dist/images/<service>/` and `dist/images/<service>.oci.tar`. Twice the same bytes from one commit. docs/deploy/images.md
 * says what is in them and how to run them.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Buildable, build, buildables } from './build.ts';
import { currentDebianPackages } from './images/debian-packages.ts';
import { ImageError, type Inputs, inputsFile, readInputs, root } from './images/inputs.ts';
import { makeImages } from './images/make-images.ts';
import { checkoutNodeVersion, currentNode } from './images/node-program.ts';
import { type Architecture, architectures } from './images/platforms.ts';
import { readRelease } from './images/release.ts';
import { verifyImages } from './images/verify.ts';

const help = `Usage: npm run images [-- OPTIONS]

  --out FOLDER        where to write; dist/images when it is not given
  --arch LIST         ${architectures.join(',')}
  --only LIST         ${buildables.join(',')}
  --source FOLDER     build the services of another checkout, with what it needs installed; all
                      else is this one's. Needs --out
  --pin               take the versions of Debian's packages that there are now, and Node's of
                      package.json, into deploy/images/inputs.json; makes no images
  --verify            make all of this commit in two clones, compare them byte for byte, and start them
`;

process.exitCode = await main().catch((error: Error) => {
  const isExpected = error instanceof ImageError || 'code' in error;
  process.stderr.write(`${isExpected ? error.message : error.stack}\n`);
  return 1;
});

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      arch: { type: 'string' },
      only: { type: 'string' },
      source: { type: 'string' },
      pin: { type: 'boolean' },
      verify: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  if (values.pin === true) return pin();
  if (values.verify === true) {
    verifyImages((line) => process.stdout.write(`${line}\n`));
    return 0;
  }
  if (values.source !== undefined && values.out === undefined)
    throw new ImageError('--source needs --out: dist/images is for the images of this checkout.');
  const given = (path: string) => resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), path);
  const out = values.out === undefined ? join(root, 'dist/images') : given(values.out);
  const source = values.source === undefined ? root : given(values.source);
  const inputs = readInputs();
  if (inputs.node.version !== checkoutNodeVersion())
    throw new ImageError(
      `package.json has Node ${checkoutNodeVersion()}, deploy/images/inputs.json ${inputs.node.version}: npm run images -- --pin`,
    );
  mkdirSync(out, { recursive: true });
  rmSync(join(out, '.blobs'), { recursive: true, force: true });
  await makeImages({
    inputs,
    release: readRelease(source),
    source,
    services: listed<Buildable>('--only', values.only, buildables),
    architectures: listed<Architecture>('--arch', values.arch, architectures),
    built: (service) =>
      source === root ? build(service) : build(service, join(out, '.built', service), [], source),
    out,
    say: (line) => process.stdout.write(`${line}\n`),
  });
  for (const part of ['.blobs', '.built'])
    rmSync(join(out, part), { recursive: true, force: true });
  return 0;
}

async function pin(): Promise<number> {
  const debian = {} as Inputs['debian'];
  for (const each of architectures) debian[each] = currentDebianPackages(each);
  const inputs: Inputs = { debian, node: await currentNode() };
  writeFileSync(inputsFile, `${JSON.stringify(inputs, null, 2)}\n`);
  process.stdout.write(`${inputsFile}\n`);
  return 0;
}

function listed<Name extends string>(
  flag: string,
  given: string | undefined,
  all: readonly Name[],
): readonly Name[] {
  const names = given?.split(',').map((name) => name.trim()) ?? all;
  for (const name of names)
    if (!(all as readonly string[]).includes(name))
      throw new ImageError(`${flag} knows ${all.join(', ')}; ${name} is none of them.`);
  return names as readonly Name[];
}
