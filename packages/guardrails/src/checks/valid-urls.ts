import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckFunction } from '../check.ts';
import { isPublicName } from '../public-name.ts';
import { excerpt, requiredSubject } from '../text-check.ts';

/** Whether every address in the text leads somewhere: it answers, or its host has a name. */
export function validUrls({
  onlyDNS,
  not,
  subjects,
}: ParametersOf<'default.validUrls'>): CheckFunction {
  return async (context) => {
    const text = requiredSubject(textsOf(context, subjects).joined);
    const common = { not, onlyDNS, textExcerpt: excerpt(text) };
    const urls = urlsIn(text);
    if (urls.length === 0)
      return {
        verdict: false,
        data: { verdict: false, explanation: 'The text has no URLs.', ...common },
      };
    if (urls.length > urlsMax)
      throw new CheckError('TextTooLong', `The text has more than ${urlsMax} URLs.`);
    const valid = await Promise.all(urls.map((url) => leadsSomewhere(context, url, onlyDNS)));
    const invalidUrls = urls.filter((_url, at) => valid[at] === false);
    const verdict = (invalidUrls.length === 0) !== not;
    return {
      verdict,
      data: {
        verdict,
        explanation: `${invalidUrls.length} of ${urls.length} URLs are not valid.`,
        urls,
        invalidUrls,
        ...common,
      },
    };
  };
}

/** More than an answer refers to; each is a request to somebody. */
const urlsMax = 20;

function urlsIn(text: string): string[] {
  const urls = new Set<string>();
  for (const [written] of text.matchAll(/https?:\/\/[^\s<>"'`\\^{}|]{1,500}/gi)) {
    urls.add(withoutEnd(written));
    if (urls.size > urlsMax) break;
  }
  return [...urls];
}

/** What closes the sentence or bracket around a URL is no part of it. */
function withoutEnd(url: string): string {
  let end = url.length;
  for (; end > 0; end--) {
    const last = url[end - 1] as string;
    const opens = last === ')' ? '(' : last === ']' ? '[' : undefined;
    const closesAround = opens !== undefined && countOf(url, opens, end) < countOf(url, last, end);
    if (!closesAround && !'.,;:!?*_'.includes(last)) break;
  }
  return url.slice(0, end);
}

function countOf(text: string, sought: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (text[at] === sought) count++;
  return count;
}

/**
 * The text names the host, not whoever wrote the config: so it has to be a public
 * name, whatever the author of the config may call.
 */
async function leadsSomewhere(
  { ask }: CheckContext,
  url: string,
  onlyDNS: boolean,
): Promise<boolean> {
  if (!URL.canParse(url) || !isPublicName(new URL(url).hostname)) return false;
  try {
    const { status } = await ask({ url, method: 'HEAD', by: 'caller', lookUpOnly: onlyDNS });
    return onlyDNS || (status >= 200 && status <= 299);
  } catch (error) {
    // Beyond an air gap nobody knows.
    if (error instanceof CheckError && error.name !== 'AirGapped') return false;
    throw error;
  }
}
