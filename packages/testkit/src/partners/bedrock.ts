import { signatureFault } from '../s3-signature.ts';
import { at, hasAddress, isForbidden, masked, textAt, type Vendor, vendorKey } from './vendor.ts';

const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
const credentials = { accessKeyId: 'AKIDPARTNER', secretAccessKey: vendorKey, region: 'eu-west-1' };

export const bedrockVendors: readonly Vendor[] = [
  {
    host,
    path: '/guardrail/gr1abc/version/3/apply',
    knows({ method, path, headers, bytes }) {
      const request = { method, target: path, headers: { ...headers, host }, body: bytes };
      return signatureFault(request, credentials, Date.now(), 'bedrock') === undefined;
    },
    answer({ body }) {
      const text = textAt(body, 'content.0.text.text');
      const source = at(body, 'source');
      if (text === undefined || (source !== 'INPUT' && source !== 'OUTPUT')) return undefined;
      const isBlocked = isForbidden(text);
      const isMasked = hasAddress(text);
      const isSeen = text.includes('only seen');
      const intervened = isBlocked || isMasked || isSeen;
      return {
        usage: { contentPolicyUnits: 1 },
        action: intervened ? 'GUARDRAIL_INTERVENED' : 'NONE',
        outputs: intervened ? [{ text: masked(text, '{EMAIL}') }] : [],
        assessments: [
          {
            ...(isBlocked || isSeen
              ? {
                  contentPolicy: {
                    filters: [
                      {
                        type: 'VIOLENCE',
                        confidence: 'HIGH',
                        filterStrength: 'HIGH',
                        action: isBlocked ? 'BLOCKED' : 'NONE',
                        detected: true,
                      },
                    ],
                  },
                }
              : {}),
            ...(isMasked
              ? {
                  sensitiveInformationPolicy: {
                    piiEntities: [
                      {
                        type: 'EMAIL',
                        match: 'ada@example.com',
                        action: text.includes('blocked data') ? 'BLOCKED' : 'ANONYMIZED',
                        detected: true,
                      },
                    ],
                    regexes: [],
                  },
                }
              : {}),
            invocationMetrics: { guardrailProcessingLatency: 210 },
          },
        ],
      };
    },
  },
];
