import type { Runtime } from '../../env'
import type { ImportMessage } from './message'

/** Does the page of an import that a message asks for. No import can be started yet, so there is nothing to do. */
export async function runImport(_rt: Runtime, _message: ImportMessage): Promise<void> {}
