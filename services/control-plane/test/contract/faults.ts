import { canonicalPrefix } from '@sluice/contracts';
import { errorBodies } from '@sluice/contracts/admin';
import type { z } from 'zod';
import { errorStatuses } from '../../src/kernel/openapi/error-statuses.ts';
import { headersOfAnswer, headersOfRefusal } from '../../src/kernel/openapi/headers.ts';
import type { ContractCase } from './load-contract.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
  /** Of a recorded example there are none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of HTTP itself, and for browsers. */
const unpublishedHeaders =
  /^(?:connection|content-.*|cross-origin-.*|date|keep-alive|origin-agent-cluster|referrer-policy|strict-transport-security|transfer-encoding|x-content-type-options|x-dns-prefetch-control|x-download-options|x-frame-options|x-permitted-cross-domain-policies|x-xss-protection|cache-control)$/;

/** Headers that are not published. */
function headerFaults(answer: Answer, published: object, at: string): string[] {
  return Object.keys(answer.headers ?? {})
    .filter((name) => !unpublishedHeaders.test(name) && !Object.hasOwn(published, name))
    .map((name) => `${at}: the header ${name} is not published`);
}

/** What is wrong with the body of a 200, as "path: what" lines. Fields that the schema does not know are faults. */
export function answerFaults({ endpoint }: ContractCase, answer: Answer, at: string): string[] {
  if (answer.status !== 200) return [`${at}: ${answer.status} ${answer.text}`];
  const { warnings: _told, ...body } = answer.body as Record<string, unknown>;
  return [
    ...shapeFaults(endpoint.answer, Array.isArray(answer.body) ? answer.body : body, at),
    ...headerFaults(answer, headersOfAnswer(endpoint, canonicalPrefix), at),
  ];
}

/** What is wrong with a refusal: a status that is not published, another shape, another code. */
export function refusalFaults(
  { endpoint }: ContractCase,
  answer: Answer,
  expected: { status: number; code: string },
  at: string,
): string[] {
  const form = endpoint.errorForm ?? 'usual';
  const { errorCode } = (answer.body as { data?: { errorCode?: string } }).data ?? {};
  const faults = [
    ...shapeFaults(errorBodies[form], answer.body, at),
    ...headerFaults(answer, headersOfRefusal(answer.status, canonicalPrefix), at),
  ];
  if (answer.status !== expected.status || (form !== 'text' && errorCode !== expected.code))
    faults.push(`${at}: ${answer.status} ${errorCode}, not ${expected.status} ${expected.code}`);
  if (!errorStatuses(endpoint).includes(answer.status))
    faults.push(`${at}: ${answer.status} is not published`);
  return faults;
}

export function shapeFaults(schema: z.ZodType, body: unknown, at: string): string[] {
  const parsed = schema.safeParse(body);
  if (parsed.success) return differences(body, parsed.data, at);
  return parsed.error.issues.map((issue) => `${at}: ${issue.path.join('.')}: ${issue.message}`);
}

/** Where what came and what the schema kept of it are not the same. */
function differences(came: unknown, kept: unknown, at: string): string[] {
  if (!isObject(came) || !isObject(kept))
    return Object.is(came, kept) ? [] : [`${at}: ${JSON.stringify(came)} is not expected`];
  return Object.entries(came).flatMap(([name, value]) =>
    name in kept
      ? differences(value, kept[name], `${at}.${name}`)
      : [`${at}.${name}: is not expected`],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
