import { setImmediate } from 'node:timers/promises';
import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import { CheckError, type CheckFunction } from '../check.ts';
import { isAllowedHost } from '../images/allowed-host.ts';
import { type FoundAddress, findAddresses } from '../images/find-addresses.ts';
import { replaced } from '../replaced.ts';
import { checkedSubject } from '../text-check.ts';

/**
 * Pictures that whoever shows the text would fetch from hosts that are not
 * listed: an address carries out whatever a model was talked into putting there.
 */
export function imageHosts({
  allowedHosts,
  links,
  redact,
  redactText,
  not,
  subjects,
}: ParametersOf<'default.imageHosts'>): CheckFunction {
  return async (context) => {
    const texts = textsOf(context, subjects);
    if (checkedSubject(texts.joined) === '')
      throw new CheckError('NothingToCheck', 'There is no text to check.');
    const found: FoundAddress[][] = [];
    let sinceTurn = 0;
    for (const part of texts.parts) {
      sinceTurn += part.length;
      if (sinceTurn > turnLength) {
        await setImmediate();
        sinceTurn = part.length;
      }
      const addresses = await findAddresses(part, links, () => setImmediate());
      found.push(addresses.filter(({ url }) => !mayBeFetched(url, allowedHosts)));
    }
    const hosts = [...new Set(found.flat().map(({ url }) => hostOf(url) ?? 'not readable'))];
    const verdict = (hosts.length === 0 || redact) !== not;
    const explanation =
      hosts.length === 0
        ? 'Nothing leads to a host that is not listed.'
        : `${found.flat().length} addresses lead to hosts that are not listed${redact ? ', and are taken out' : ''}.`;
    // Addresses may carry what was to stay here; their hosts are told alone.
    const data = { verdict, not, explanation, hosts: hosts.slice(0, hostsTold), allowedHosts };
    if (!redact || hosts.length === 0) return { verdict, data };
    const parts = texts.parts.map((part, at) =>
      withoutAddresses(part, found[at] ?? [], redactText),
    );
    return { verdict, data, ...replaced(context, texts, parts) };
  };
}

const hostsTold = 20;
/** Of many small texts; a long one gives way by itself. */
const turnLength = 32 * 1024;

/** What stands in the text itself, or beside it, is fetched from nobody else. */
function mayBeFetched(url: string, allowed: readonly string[]): boolean {
  if (/^\s*data:/i.test(url)) return true;
  const host = hostOf(url);
  if (host === undefined) return false;
  // Some schemes lead to no host: `mailto:`.
  return host === nowhere || host === '' || isAllowedHost(host, allowed);
}

/** As browsers read it; undefined where they would not. */
function hostOf(url: string): string | undefined {
  return URL.parse(url, `https://${nowhere}`)?.hostname;
}

/** Whose page the text is shown on. */
const nowhere = 'page.invalid';

function withoutAddresses(
  part: string,
  found: readonly FoundAddress[],
  text: string,
): string | null {
  if (found.length === 0) return null;
  let result = '';
  let from = 0;
  for (const { start, end } of found) {
    if (start < from) {
      // Within what is gone already, or reaching beyond it.
      from = Math.max(from, end);
      continue;
    }
    result += part.slice(from, start) + text;
    from = end;
  }
  return result + part.slice(from);
}
