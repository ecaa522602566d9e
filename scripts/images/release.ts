import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './inputs.ts';

/** What is told of the state that images are made of. */
export interface Release {
  version: string;
  /** RFC 3339. Of the commit, or SOURCE_DATE_EPOCH: not of the build, which would change every digest. */
  created: string;
  /** The commit; `-dirty` follows when files differ from it. Undefined outside of a clone. */
  revision?: string;
}

/** Of a checkout, this one unless given. */
export function readRelease(source: string = root): Release {
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    version: string;
  };
  const commit = git(source, ['log', '-1', '--format=%H %ct'])?.split(' ');
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? commit?.[1] ?? 0);
  const isDirty = git(source, ['status', '--porcelain', '--untracked-files=no']) !== '';
  return {
    version,
    created: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
    ...(commit === undefined ? {} : { revision: `${commit[0]}${isDirty ? '-dirty' : ''}` }),
  };
}

/** Undefined without git or a clone. */
function git(cwd: string, args: string[]): string | undefined {
  const result = spawnSync('git', args, { cwd, encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}
