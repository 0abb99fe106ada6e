import { Fault } from '../lib/fault'
import { MAX_INSTALLATION_ID } from './limits'

const INSTALLATION_ID = new RegExp(`^[A-Za-z0-9._:@|+-]{1,${MAX_INSTALLATION_ID}}$`)
const RULE = `must have 1 to ${MAX_INSTALLATION_ID} letters, digits or characters of . _ : @ | + -`

/** The installation id in the path of a change. @throws {Fault} `validation_failed` */
export function installationIn(text: string): string {
  if (INSTALLATION_ID.test(text)) return text
  throw new Fault('validation_failed', `The installation id in the path ${RULE}.`, {
    errors: [{ pointer: '', code: 'malformed', message: RULE }],
  })
}
