import { writeLog } from '../../http/log'

/**
 * Does the work of one message, or of one project, apart from that of the others in the batch. An error ends up in the log, and only the
 * message it is about comes again.
 *
 * @returns `failed` if it threw
 */
export async function apart<T>(
  about: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<{ failed: false; value: T } | { failed: true }> {
  try {
    return { failed: false, value: await work() }
  } catch (error) {
    writeLog('error', 'fetches_apart', { ...about, error: String(error) })
    return { failed: true }
  }
}
