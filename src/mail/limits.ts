import { SECOND } from '../lib/time'

/** How long the email service may take to accept an email (ms). */
export const SEND_WITHIN = 10 * SECOND
