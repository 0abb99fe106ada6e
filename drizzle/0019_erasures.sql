CREATE TABLE `erasures` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`consumer_id` text NOT NULL,
	`cursor` text,
	`removed` integer DEFAULT 0 NOT NULL,
	`requested_at` integer NOT NULL,
	`finished_at` integer,
	`due_at` integer,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `erasures_first` ON `erasures` (`due_at`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `erasures_due` ON `erasures` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `consumers` ADD `erasure_id` text;--> statement-breakpoint
CREATE INDEX `customer_links_erased` ON `customer_links` (`project_id`,`customer`,`vendor`) WHERE pinned GLOB 'ers_*';