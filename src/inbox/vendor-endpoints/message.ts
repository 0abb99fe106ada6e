import * as z from 'zod'

/** A check of an endpoint for the consumer of the queue of fetches. */
export const EndpointMessage = z.object({
  what: z.literal('endpoint'),
  project_id: z.string(),
  connection_id: z.string(),
})
export type EndpointMessage = z.infer<typeof EndpointMessage>
