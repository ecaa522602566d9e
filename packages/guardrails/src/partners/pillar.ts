import type { Asked, PartnerVerdict } from './partner.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const scanning = (path: string) => ({
  name: 'Pillar',
  request: ({
    credentials: { apiKey },
    parameters: { scanners },
    text,
  }: Asked<'pillar.scanPrompt'>) => ({
    url: `https://api.pillarseclabs.com/api/v1/scan/${path}`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: {
      message: text,
      scanners: Object.fromEntries(scanners.map((scanner) => [scanner, true])),
    },
  }),
  /** A scanner that did not look says null, one that found nothing false; what is found is true, or a list of it. */
  verdict(reply: Reply, { parameters: { scanners } }: Asked<'pillar.scanPrompt'>): PartnerVerdict {
    const asked: readonly string[] = scanners;
    const said = reply.entries().filter(([scanner]) => asked.includes(scanner));
    if (said.length === 0) return reply.refuse('about any scanner');
    const found = said.flatMap(([scanner, value]) => {
      const json = value.json();
      return Array.isArray(json) || (json !== null && value.flag()) ? [scanner] : [];
    });
    return { found: found.length > 0, data: { found } };
  },
});

export const pillarPartners = {
  'pillar.scanPrompt': partnerCheck('pillar.scanPrompt', scanning('prompt')),
  'pillar.scanResponse': partnerCheck('pillar.scanResponse', scanning('response')),
};
