import * as z from 'zod'
import { named } from '../http/fields'
import { KINDS } from '../lib/billing-kinds'

/** What an event did to an object: recorded with the event, and shown. */
export const Effect = z
  .object({
    kind: named('EffectKind', z.enum([...KINDS, 'customer_link', 'checkout'])).describe(
      '`payment_card`: the `card` of the payment method with this id, as a payment reports it. `customer_link`: the event says which consumer the customer with this id is. `checkout`: only with `fetched` or `gone`.',
    ),
    id: z.string().describe("The vendor's id of the object."),
    result: named(
      'EffectResult',
      z.enum(['applied', 'superseded', 'ambiguous', 'fetched', 'gone', 'unplaced']),
    ).describe(
      '`applied`: the event, or the fetch, determined the state of the object. `ambiguous`: it did too, but others with the same time disagree, and nothing shows which one is right. `superseded`: a later one determines the state. `fetched`: the event only names the object, which was fetched from the vendor: see `event_id`. `gone`: the event only names the object, and the vendor no longer has it. `unplaced`: the event is about a payment, and is kept until an event says what was sold. For the payment of a subscription, that never comes: its invoice shows the money that came back.',
    ),
    change: z
      .record(
        z.string(),
        z.object({
          from: z.unknown(),
          to: z.unknown(),
          personal: z
            .literal(true)
            .optional()
            .describe(
              'The values are null, because they are about a person. The object has the current value, unless its consumer was erased.',
            ),
          too_large: z
            .literal(true)
            .optional()
            .describe('The values are null, because they are too large to be shown here. They are in the payload.'),
        }),
      )
      .nullable()
      .describe('The fields of the object that the event changed; null if it changed none.'),
    event_id: z
      .string()
      .optional()
      .describe(
        'Only with `fetched`: the id of the record of the fetched object, which has the effects. If the answer was already known, the id of the record or event that it was known from.',
      ),
    incomplete: z
      .literal(true)
      .optional()
      .describe('A list of the object was cut off, so the object has only a part of it.'),
  })
  .meta({ id: 'Effect' })
export type Effect = z.infer<typeof Effect>
