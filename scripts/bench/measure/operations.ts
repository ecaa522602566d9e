import { OwnerNotes } from '@sluice/gateway/owners';
import { responseId, responseReply, responseRequest } from '../canned.ts';
import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { timeWork } from '../time-work.ts';
import { median, runRound, type Workbench } from '../workbench.ts';
import { measureCpu } from './cpu.ts';

/** Looking at what stays at a provider: whole requests beside the bare proxy's, and the owner's look-up by itself. */
export async function measureOperations(bench: Workbench): Promise<Figure[]> {
  for (const subject of bench.subjects) await makeResponse(subject);
  const figures = [measureLookUp(bench.quick)];
  figures.push(...(await measureRetrieves(bench, 'CPU per retrieve of a response', {})));
  figures.push(
    ...(await measureRetrieves(bench, 'CPU per retrieve, its owner one of three targets', {
      'x-service-config': JSON.stringify(spread),
    })),
  );
  return figures;
}

/** No target by itself, and the provider is not named: the owner's is asked. */
const spread = {
  strategy: { mode: 'loadbalance' },
  targets: ['@claude', '@bench', '@claude'].map((provider) => ({ provider })),
};

/** @param headers in place of the provider's, of what is no bare proxy */
async function measureRetrieves(
  bench: Workbench,
  figure: string,
  headers: Readonly<Record<string, string>>,
): Promise<Figure[]> {
  const places = bench.subjects.map((subject) => placeOf(subject, headers));
  const shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  for (const place of places) await runRound(bench, place, shape);
  return measureCpu(bench, places, figure, {
    target: targets.retrieveCpuRatio,
    rounds: bench.quick ? 4 : 10,
    shape,
  });
}

async function makeResponse({ url, headers, name }: Subject): Promise<void> {
  const reply = await fetch(responsesOf(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: responseRequest,
    signal: AbortSignal.timeout(30_000),
  });
  const text = await reply.text();
  if (!text.includes(responseId))
    throw new Error(`${name} made no response: ${reply.status} ${text.slice(0, 300)}`);
}

const responsesOf = (chatUrl: string): string =>
  chatUrl.replace(/\/chat\/completions$/, '/responses');

/** @param config leads to the owner in place of the provider's name, where it is no bare proxy */
function placeOf(subject: Subject, config: Readonly<Record<string, string>>): Place {
  const { 'x-service-provider': _provider, ...others } = subject.headers;
  const isNamed = Object.keys(config).length === 0;
  return {
    name: subject.name,
    url: `${responsesOf(subject.url)}/${responseId}`,
    method: 'GET',
    body: '',
    headers: isNamed ? subject.headers : { ...others, ...config },
    pid: () => subject.pid(),
    replies: { unary: whole, stream: whole },
  };
}

const whole = { bytesMin: responseReply.length, endsWith: '}' };

/** As many as a gateway remembers. */
const owned = 100_000;

function measureLookUp(quick: boolean): Figure {
  const notes = new OwnerNotes(undefined);
  const idOf = (number: number) => `${responseId}${number}`;
  for (let number = 0; number < owned; number++)
    notes.note('organisation', idOf(number), {
      kind: 'response',
      workspaceId: 'workspace',
      origin: 'https://api.openai.com',
      provider: '@bench',
      account: 'account',
      model: 'gpt-4o-mini',
    });
  let asked = 0;
  const rounds = timeWork(quick, () => {
    // Far apart, so that none was asked for a moment ago.
    asked = (asked + 7_919) % owned;
    return notes.of('organisation', idOf(asked));
  });
  return {
    subject: 'gateway',
    figure: `owner of one of ${owned.toLocaleString('en')} objects, in memory`,
    unit: 'µs',
    measured: median(rounds),
    rounds,
    judged: 'measured',
    target: targets.ownerLookUpUs,
  };
}
