import { isIPv6 } from 'node:net';
import type { Finder } from './finding.ts';

/** IP addresses of both versions. */
export const findIpAddresses: Finder = function* (text) {
  for (const { 0: written, index } of text.matchAll(version4)) {
    if (isVersion(text, index)) continue;
    yield { type: 'IP_ADDRESS', start: index, end: index + written.length, value: written };
  }
  for (const { 0: written, index } of text.matchAll(version6)) {
    const address = written.replace(/\.$/, '');
    // Words of hexadecimal letters with colons between are names of programs.
    if (!/\d/.test(address) || !isIPv6(address)) continue;
    const value = address.toLowerCase();
    yield { type: 'IP_ADDRESS', start: index, end: index + address.length, value };
  }
};

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const version4 = new RegExp(`(?<![\\w.-])(?:${octet}\\.){3}${octet}(?![\\w-]|\\.\\w)`, 'g');
const version6 =
  /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])/gi;

/** Four numbers with dots between are also how releases are counted. */
function isVersion(text: string, index: number): boolean {
  return /(?:\b(?:version|versions|release|build|firmware|driver|chapter|section|clause|rev|ver)\b\.?:?\s*|§\s*)$/i.test(
    text.slice(Math.max(0, index - 16), index),
  );
}

export const findMacAddresses: Finder = function* (text) {
  for (const { 0: written, index } of text.matchAll(mac))
    yield {
      type: 'MAC_ADDRESS',
      start: index,
      end: index + written.length,
      value: written.toLowerCase().replace(/[^0-9a-f]/g, ''),
    };
};

const mac =
  /(?<![\w:.-])(?:[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?![\w:-]|\.\w)/gi;
