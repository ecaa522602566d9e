import type { EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { droppedFormat, openAiOnly, promptOf } from './request.ts';

/** https://docs.siliconflow.cn/en/api-reference/images/images-generations */
export const siliconflowImages: EndpointEntry = {
  format: 'siliconflow/images',
  path: '/images/generations',
  dialect: jsonDialect({
    encode(body) {
      promptOf(body);
      const shaped = reshape(body, {
        rename: { size: 'image_size', n: 'batch_size' },
        drop: openAiOnly,
        used: ['response_format'],
      });
      return {
        body: shaped.body,
        dropped: [...shaped.dropped, ...droppedFormat(body, 'url')],
      };
    },
    decode(reply, context) {
      const body = objectOf(reply);
      const items = (arrayOf(body?.images) ?? arrayOf(body?.data))?.map((item) =>
        imageItem({ url: objectOf(item)?.url }),
      );
      const images = allImages(items ?? []);
      return images === undefined ? undefined : encodeImages(images, context);
    },
  }),
};
