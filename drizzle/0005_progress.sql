CREATE TABLE `progress` (
	`task` text PRIMARY KEY NOT NULL,
	`hour` integer NOT NULL,
	`after` text NOT NULL
) WITHOUT ROWID;
