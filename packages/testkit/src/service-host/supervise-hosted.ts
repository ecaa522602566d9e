import type { ProcessSpec, ServiceName, Supervised } from '@sluice/stack';
import { type HostedService, hostService } from './hosted-service.ts';

/** A part of a stack that runs in the worker's host. It can be stopped and started, and has no process to look at or to kill. */
export function superviseHosted(name: ServiceName, spec: ProcessSpec): Supervised {
  let current: HostedService | undefined;
  let starting: Promise<HostedService> | undefined;
  let stopping: Promise<unknown> | undefined;
  let abortStart = new AbortController();
  let lastLog = '';
  const noProcess = (): never => {
    throw new Error(
      `${spec.name} shares a process with others: a test that kills it or looks at its process asks for one, with { processes: ['${spec.name}'] }.`,
    );
  };

  return {
    name: spec.name,
    get pid() {
      return noProcess();
    },
    async start() {
      await stopping;
      if (current !== undefined || starting !== undefined) return;
      abortStart = new AbortController();
      const { entry, env, readyTimeoutMs } = spec;
      const { signal } = abortStart;
      starting = hostService({ name, entry }, env, { readyTimeoutMs, signal });
      try {
        const started = await starting;
        current = started;
        void started.ended.then(() => {
          lastLog = started.log();
          if (current === started) current = undefined;
        });
      } finally {
        starting = undefined;
      }
    },
    async stop() {
      abortStart.abort();
      const started = current ?? (await starting?.catch(() => undefined));
      stopping = started?.stop();
      await stopping;
    },
    kill: async () => noProcess(),
    stderr: () => current?.log() ?? lastLog,
  };
}
