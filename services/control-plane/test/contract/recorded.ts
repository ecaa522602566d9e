import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { adminEndpoints, type EndpointId } from '@sluice/contracts/admin';
import type { OperationExample } from '../../src/kernel/openapi/examples.ts';
import { examplesFolder, readExamples } from '../../src/kernel/openapi/examples.ts';
import type { Sent } from './call.ts';
import { answeredElsewhere } from './coverage.ts';
import type { Context } from './example.ts';
import { answerFaults } from './faults.ts';
import type { ContractCase } from './load-contract.ts';
import { createNeutral } from './neutral.ts';

/** How the examples of `/v1/openapi.json` are made again; what a failed comparison tells. */
const command = 'SLUICE_EXAMPLES=record npm test -- services/control-plane/test/contract.test.ts';

const kept = readExamples();
const recorded: Record<string, OperationExample> = {};

/**
 * Compares a call that was answered with the example of its operation in `/v1/openapi.json`, or notes it to become
 * that: what was sent is the very same, and the answer has the same fields.
 */
export function exampleFaults(
  context: Context,
  one: ContractCase,
  sent: Sent,
  answer: unknown,
): string[] {
  const now = exampleOf(context, sent, answer);
  const held = kept[one.id];
  const faults = held === undefined ? ['has no example'] : faultsOf(one, held, now);
  // What is still right stays as it is: which rows there are differs from run to run.
  recorded[one.id] = faults.length === 0 ? (held ?? now) : now;
  if (isRecording || faults.length === 0) return [];
  return [...faults, `make its example in /v1/openapi.json again: ${command}`];
}

function faultsOf(one: ContractCase, held: OperationExample, now: OperationExample): string[] {
  const isSent = isDeepStrictEqual({ ...held, answer: 0 }, { ...now, answer: 0 });
  const isAnswered = isDeepStrictEqual(shapeOf(held.answer), shapeOf(now.answer));
  return [
    ...(isSent ? [] : ['its example is not what is sent']),
    ...(isAnswered ? [] : ['its example has other fields']),
    ...answerFaults(one, { status: 200, body: held.answer, text: '' }, 'the example'),
  ];
}

const isAnsweredElsewhere = (id: string) =>
  Object.hasOwn(answeredElsewhere, adminEndpoints[id as EndpointId]?.operationId ?? '');

const isRecording = process.env.SLUICE_EXAMPLES === 'record';

/** Writes what was noted, a file for each resource, where examples are made again. */
export function writeExamples(): void {
  if (!isRecording) return;
  const resources = new Map<string, Record<string, OperationExample>>();
  for (const [id, example] of Object.entries({ ...elsewhere(), ...recorded })) {
    const resource = id.split('.', 1)[0] ?? id;
    resources.set(resource, { ...resources.get(resource), [id]: example });
  }
  mkdirSync(examplesFolder, { recursive: true });
  for (const name of readdirSync(examplesFolder)) rmSync(`${examplesFolder}/${name}`);
  for (const [resource, examples] of resources)
    writeFileSync(`${examplesFolder}/${resource}.json`, `${JSON.stringify(examples, null, 2)}\n`);
}

/** Operations that the gateway answers itself: their examples are sent there. */
function elsewhere(): Record<string, OperationExample> {
  return Object.fromEntries(Object.entries(kept).filter(([id]) => isAnsweredElsewhere(id)));
}

function exampleOf(
  context: Context,
  { path, query, body }: Sent,
  answer: unknown,
): OperationExample {
  const neutral = createNeutral(context);
  const isThere = (part: object | undefined) => part !== undefined && Object.keys(part).length > 0;
  // As it travels: what is undefined does not.
  return JSON.parse(
    JSON.stringify({
      ...(isThere(path) && { path: neutral(path) }),
      ...(isThere(query) && { query: neutral(query) }),
      ...(body !== undefined && { body: neutral(body) }),
      answer: neutral(shortened(answer)),
    }),
  );
}

/** One row of a list shows what a row is. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isRows = value.every((each) => typeof each === 'object' && each !== null);
    return (isRows ? value.slice(0, 1) : value.slice(0, 5)).map(shortened);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'warnings')
      .map(([name, inner]) => [name, shortened(inner)]),
  );
}

/** The names of the fields, but for those of rows: of which there may be none today. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return 0;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}
