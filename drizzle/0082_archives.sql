CREATE TABLE `archived_refs` (
	`key` integer NOT NULL,
	`archive` integer NOT NULL,
	PRIMARY KEY(`key`, `archive`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archives` (
	`number` integer PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`last_at` integer NOT NULL,
	`events` integer NOT NULL,
	`revision` integer NOT NULL,
	`records` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archives_project` ON `archives` (`project_id`,`last_at`);--> statement-breakpoint
CREATE INDEX `archives_last` ON `archives` (`last_at`);