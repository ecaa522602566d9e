import type { TlsFiles } from '@sluice/rpc';
import { type Logger, reasonOf } from '@sluice/telemetry';
import type { Part } from './part.ts';

/** Renewals come weeks before the end; a file that is written in two steps is whole by the next look. */
const lookEveryMs = 30_000;

/** Takes up certificates that are renewed while the service runs. @param everyMs between two looks */
export function certificatesPart(
  files: TlsFiles,
  { logger, everyMs = lookEveryMs }: { logger: Logger; everyMs?: number },
): readonly Part[] {
  if (files.areNone) return [];
  let timer: NodeJS.Timeout | undefined;
  let told = '';
  const look = async () => {
    try {
      if (await files.look()) logger.info('certificates were renewed: new connections have them');
      told = '';
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== told)
        logger.warn({ reason }, 'renewed certificates cannot be used: those of before stay');
      told = reason;
    }
  };
  return [
    {
      name: 'certificates',
      start() {
        timer = setInterval(() => void look(), everyMs);
        timer.unref();
      },
      stop: () => clearInterval(timer),
    },
  ];
}
