import type { JsonObject } from '@sluice/contracts';
import { modelPath } from '../../address.ts';
import type { EndpointEntry } from '../../contract.ts';
import { arrayOf, compact, objectOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { openAiOnly, promptOf, sizeOf } from './request.ts';

/** https://docs.fal.ai/model-apis: every model is an address; those that draw agree on these fields. */
export const falImages: EndpointEntry = {
  format: 'fal/images',
  baseUrl: 'https://fal.run',
  path: ({ model }) => `/${modelPath(model)}`,
  dialect: jsonDialect({
    encode(body) {
      promptOf(body);
      const shaped = reshape(body, {
        rename: { n: 'num_images', steps: 'num_inference_steps' },
        drop: openAiOnly,
        used: ['model', 'size', 'response_format'],
      });
      const size = sizeOf(body);
      const encoded: JsonObject = { ...shaped.body };
      if (size !== undefined) encoded.image_size ??= { ...size };
      // The image then comes as a data URI, in place of an address.
      if (body.response_format === 'b64_json') encoded.sync_mode = true;
      return { body: encoded, dropped: shaped.dropped };
    },
    decode(reply, context) {
      const body = objectOf(reply);
      const single = body?.image;
      const list = arrayOf(body?.images) ?? (single === undefined ? [] : [single]);
      const images = allImages(
        list.map((value) => {
          const { url, content_type: type } = objectOf(value) ?? {};
          return imageItem({ url }, compact<JsonObject>({ content_type: type as string }));
        }),
      );
      return images === undefined ? undefined : encodeImages(images, context);
    },
  }),
};
