/** Why lines were not run, by how their batch ended. */
const faults: Readonly<Record<string, { code: string; message: string } | undefined>> = {
  cancelled: {
    code: 'batch_cancelled',
    message: 'The batch was cancelled before this line was run.',
  },
  expired: { code: 'batch_expired', message: 'The batch expired before this line was run.' },
};

/** What is said of lines that a batch of such a status has never run; undefined = it leaves none. */
export function notRunFault(status: unknown): { code: string; message: string } | undefined {
  return typeof status === 'string' ? faults[status] : undefined;
}
