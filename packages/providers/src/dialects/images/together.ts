import type { JsonObject } from '@sluice/contracts';
import type { EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { openAiOnly, promptOf, sizeOf } from './request.ts';

/** https://docs.together.ai/reference/post-images-generations */
export const togetherImages: EndpointEntry = {
  format: 'together/images',
  path: '/images/generations',
  dialect: jsonDialect({
    encode(body) {
      promptOf(body);
      const shaped = reshape(body, { drop: openAiOnly, used: ['size'] });
      const encoded: JsonObject = { ...shaped.body, ...sizeOf(body) };
      if (encoded.response_format === 'b64_json') encoded.response_format = 'base64';
      return { body: encoded, dropped: shaped.dropped };
    },
    decode(reply, context) {
      const body = objectOf(reply);
      const items = arrayOf(body?.data)?.map((value) => {
        const item = objectOf(value);
        return imageItem({ url: item?.url, base64: item?.b64_json });
      });
      const images = allImages(items ?? []);
      const model = stringOf(body?.model);
      if (images === undefined) return undefined;
      return encodeImages(images, context, model === undefined ? {} : { model });
    },
  }),
};
