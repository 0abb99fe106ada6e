ALTER TABLE `consumers` ADD `created_by` text;--> statement-breakpoint
ALTER TABLE `consumers` ADD `edits` text;