import * as z from 'zod'

/** What an event did to an object, as recorded with the event and shown. */
export const Effect = z
  .object({
    kind: z
      .enum(['subscription', 'invoice', 'payment_method', 'payment_card'])
      .describe('`payment_card`: what a payment says of the `card` of the payment method of this id.'),
    id: z.string().describe("The vendor's id of the object."),
    result: z
      .enum(['applied', 'superseded', 'ambiguous'])
      .describe(
        '`applied`: the event speaks for the object. `ambiguous`: so it does, of several of one instant between which nothing decides. `superseded`: a later one does.',
      ),
    change: z
      .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))
      .nullable()
      .describe('Shown fields that it changed; null where it changed none.'),
  })
  .meta({ id: 'Effect' })
export type Effect = z.infer<typeof Effect>
