/** A vendor that items are mirrored to, and a target at it: new ones for each test of a file. */
import { afterEach, beforeEach, expect } from 'vitest';
import type { Delivery, DeliveryOutcome, Target } from '../../../src/contract/target.ts';
import { context, deliveryOf, type FakeLog, fakeLog, type ItemVendor, needsOf } from '../../support/item-vendor.ts';

type Needs = ReturnType<typeof needsOf>;

export class VendorBed<Vendor extends ItemVendor> {
  // Safe: there is one of each in each test.
  harness!: Vendor;
  log!: FakeLog;
  needs!: Needs;
  target!: Target;

  constructor(start: () => Promise<Vendor>, open: (needs: Needs) => Target) {
    beforeEach(async () => {
      this.harness = await start();
      this.log = fakeLog();
      this.needs = needsOf(this.harness.vendor, { log: this.log });
      this.target = open(this.needs);
    });
    afterEach(async () => {
      await this.target.close();
      await this.harness.vendor.close();
      expect(this.harness.vendor.complaints).toEqual([]);
    });
  }

  readonly deliver = (isCompleted: boolean, itemId?: string, given: Partial<Delivery> = {}): Promise<DeliveryOutcome> =>
    this.target.deliver(deliveryOf({ isCompleted }, { itemId, ...given }), context());
}
