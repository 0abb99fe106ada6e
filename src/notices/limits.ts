import { DAY } from '../lib/time'

/** Open notices of a project. With so many, no other one is opened; a statement that opens several can go beyond. */
export const MAX_OPEN_NOTICES = 200
/** How long a notice must have been closed (ms) before it is mailed again. */
export const MAILED_AGAIN_AFTER = DAY
/** Characters of a text that comes from outside, such as an address or the answer of a server. */
export const MAX_FACT = 300
