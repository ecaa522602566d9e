import { invalidField } from '@sluice/errors';
import { implementAll } from '../../kernel/http/implement.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { compareUse } from './compare.ts';
import type { ExportedUse } from './exported-use.ts';
import { readAnthropic } from './read-anthropic.ts';
import { readOpenAI } from './read-openai.ts';

const dayMs = 86_400_000;
/** The ledger is asked while somebody waits. */
const daysMax = 92;

interface Vendor {
  read(text: string): ExportedUse[];
  /** What an export and the ledger call the same. */
  keyOf(model: string): string;
}

const vendors: Readonly<Record<'openai' | 'anthropic', Vendor>> = {
  openai: { read: readOpenAI, keyOf: (model) => model.toLowerCase() },
  anthropic: {
    read: readAnthropic,
    // Cost exports have names for people, `Claude Sonnet 4.5`; each version has one snapshot.
    keyOf: (model) =>
      model
        .toLowerCase()
        .replace(/[ .]/g, '-')
        .replace(/-\d{8}$/, ''),
  },
};

export function importOperations(ledger: Pick<Ledger, 'listModelDays'>) {
  return implementAll('ledger.imports', {
    create: async ({ caller }, { body }) => {
      const { read, keyOf } = vendors[body.provider];
      const exported = read(body.data);
      const days = exported.map(({ day }) => day).sort();
      const [from, to] = [days[0], days.at(-1)];
      if (from === undefined || to === undefined)
        throw invalidField('body.data', 'tells of no use at all');
      if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
        throw invalidField('body.data', `must be of ${daysMax} days at most`);
      const { modelDays } = await ledger.listModelDays({
        organisationId: caller.organisationId,
        provider: body.provider,
        from,
        to,
      });
      return {
        object: 'ledger-import',
        provider: body.provider,
        rows: exported.length,
        data: compareUse(exported, modelDays, keyOf),
      };
    },
  });
}
