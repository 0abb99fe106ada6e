import * as z from 'zod'

/** A page of an import for the consumer. The row of the import says which one. */
export const ImportMessage = z.object({ what: z.literal('import'), project_id: z.string(), import_id: z.string() })
export type ImportMessage = z.infer<typeof ImportMessage>
