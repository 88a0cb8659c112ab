// In place of three's PMREMGenerator: no material here mirrors a picture of its surroundings.
export class PMREMGenerator {
    constructor() {
        throw new Error('the page has no pictures of surroundings');
    }
}
