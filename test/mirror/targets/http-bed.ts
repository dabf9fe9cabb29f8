/** A system that an http target calls, and the target: new ones for each test of a file. */
import { afterEach, beforeEach } from 'vitest';
import type { DeliveryOutcome, Target } from '../../../src/contract/target.ts';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { type Reply, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { exampleAt } from '../../support/template-vendors.ts';

export class HttpBed {
  /** The next answers of the system; then it answers `{ ok: true }`. */
  readonly replies: Reply[] = [];
  server!: TestServer; // safe: there is one in each test
  /** Closed after the test. */
  target: Target | undefined;

  constructor() {
    beforeEach(async () => {
      this.replies.length = 0;
      this.server = await startHttpServer(() => this.replies.shift() ?? { body: { ok: true } });
    });
    afterEach(async () => {
      await this.target?.close();
      await this.server.close();
    });
  }

  readonly open = (given: Partial<SettingsOf<'http'>> = {}): Target => {
    this.target = openHttp({ ...exampleAt('our-crm'), ...given }, needsOf(this.server));
    return this.target;
  };

  readonly deliver = (given: Partial<SettingsOf<'http'>> = {}, task = {}): Promise<DeliveryOutcome> =>
    this.open(given).deliver(deliveryOf(task), context());
}
