import { z } from 'zod';
import { flag, someOf } from '../parameter-fields.ts';
import { baseAddress, credentials, partnerParameters, secret } from '../partner-fields.ts';

const languages = [
  'eng_Latn',
  'zho_Hans',
  'spa_Latn',
  'ara_Arab',
  'por_Latn',
  'ind_Latn',
  'fra_Latn',
  'jpn_Jpan',
  'rus_Cyrl',
  'deu_Latn',
  'kor_Hang',
  'tur_Latn',
  'ita_Latn',
  'pes_Arab',
  'pol_Latn',
  'vie_Latn',
  'nld_Latn',
  'hin_Deva',
  'tha_Thai',
  'heb_Hebr',
  'ben_Beng',
  'swe_Latn',
  'ces_Latn',
  'ron_Latn',
  'ell_Grek',
  'ukr_Cyrl',
  'dan_Latn',
  'fin_Latn',
  'nor_Latn',
  'hun_Latn',
  'cat_Latn',
  'bul_Cyrl',
  'msa_Latn',
  'hrv_Latn',
  'arb_Latn',
  'slk_Latn',
  'lit_Latn',
  'lav_Latn',
  'srp_Cyrl',
  'slv_Latn',
  'est_Latn',
  'urd_Arab',
  'fil_Latn',
  'aze_Latn',
  'tam_Taml',
  'tel_Telu',
  'mar_Deva',
  'kan_Knda',
  'fas_Arab',
] as const;

/** Of the gateway's own publisher; `baseURL` is an installation of it. */
const own = { credentials: credentials({ apiKey: secret, baseURL: baseAddress }) };

export const serviceChecks = {
  'service.moderateContent': {
    parameters: partnerParameters({
      ...own,
      categories: someOf([
        'hate',
        'hate/threatening',
        'harassment',
        'harassment/threatening',
        'self-harm',
        'self-harm/intent',
        'self-harm/instructions',
        'sexual',
        'sexual/minors',
        'violence',
        'violence/graphic',
      ]).min(1),
    }),
  },
  'service.language': {
    parameters: partnerParameters({
      ...own,
      language: z.union([z.enum(languages), z.array(z.enum(languages)).min(1).max(100)]).optional(),
    }),
  },
  'service.pii': {
    parameters: partnerParameters({
      ...own,
      redact: flag(false),
      categories: someOf([
        'EMAIL_ADDRESS',
        'PHONE_NUMBER',
        'LOCATION_ADDRESS',
        'NAME',
        'IP_ADDRESS',
        'CREDIT_CARD',
        'SSN',
      ]).min(1),
    }),
  },
  'service.gibberish': { parameters: partnerParameters(own) },
};
