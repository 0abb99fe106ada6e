import * as z from 'zod'

/** A page of an import for the consumer. The row of the import says which one. */
export const ImportMessage = z.object({ what: z.literal('import'), project_id: z.string(), import_id: z.string() })
export type ImportMessage = z.infer<typeof ImportMessage>

/** What names an import in a message. */
export type ImportKey = Omit<ImportMessage, 'what'>

/** Asks for the next page of an import. @throws where the Queue does not take it: the cron sends it again then */
export async function sendPage(queue: Queue<unknown>, key: ImportKey, delaySeconds = 0): Promise<void> {
  await queue.send({ what: 'import', ...key } satisfies ImportMessage, { contentType: 'json', delaySeconds })
}
