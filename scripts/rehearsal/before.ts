import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/**
 * The sources of an earlier commit at `path`, with what this checkout has installed: links between packages lead into it. Whoever
 * removes the folder prunes git's worktrees.
 */
export function checkOut(commit: string, path: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', '--force', path, commit], {
    cwd: root,
    stdio: 'ignore',
  });
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  for (const parent of ['packages', 'services', '.'])
    for (const name of parent === '.' ? ['scripts'] : readdirSync(join(path, parent))) {
      const installed = join(root, parent, name, 'node_modules');
      if (existsSync(installed))
        cpSync(installed, join(path, parent, name, 'node_modules'), {
          recursive: true,
          verbatimSymlinks: true,
        });
    }
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'prisma/generate.ts'], {
    cwd: join(path, 'services/control-plane'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
