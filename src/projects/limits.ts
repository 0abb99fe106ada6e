/** Length of a project's name, in code points. */
export const MAX_NAME = 100
